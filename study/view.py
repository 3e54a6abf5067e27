"""How MLflow's runs table shows a study: the columns that a person needs in place of MLflow's own.

MLflow's *Share* button keeps a view of the table in a tag of the experiment, and makes a link that names the
tag. This is such a view; `echostudy ui` gives the link.
"""

from __future__ import annotations

import json

from study.entry import OUTCOME, SearchFacts
from study.plan import Plan

VIEW = "echostudy"
VIEW_TAG = f"mlflow.sharedViewState.{VIEW}"


def runs_view(plan: Plan) -> str:
    """The tag's value: results, what tells the searches apart, metaparameters and outcome."""
    metrics = ["fresh_examples_to_target", f"best_{plan.spec.target.metric}"]
    if any(one.timing for one in plan.searches):
        metrics.append("time_to_target_s")
    echoing = [SearchFacts.of(one).params for one in plan.searches if not one.condition.is_baseline]
    differing = [name for name in (echoing or [{}])[0] if len({one[name] for one in echoing}) > 1]
    params = dict.fromkeys(["echo_factor", "insertion_point", "repeat", *differing, "point"])
    columns = [
        *(f"metrics.`{name}`" for name in metrics),
        *(f"params.`{name}`" for name in (*params, *plan.spec.metaparameters)),
        f"tags.`{OUTCOME}`",
    ]
    return json.dumps({"selectedColumns": columns})
