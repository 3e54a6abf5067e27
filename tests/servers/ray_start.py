"""`ray start` that takes 127.0.0.1 at its word: a node that listens on the loopback interface alone.

Ray itself puts the machine's outer address in the place of 127.0.0.1, and then listens on all interfaces.
"""

import os

from ray._private import services
from ray.scripts.scripts import main

services.resolve_ip_for_localhost = lambda host: host
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # and so do the processes of this node

if __name__ == "__main__":
    main()
