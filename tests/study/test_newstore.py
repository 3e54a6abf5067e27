"""Two drivers that make the same store: the second takes the first one's."""

from study.folder import ResultsFolder
from study.newstore import store_in_waiting
from study.store import open_store


def test_a_store_that_another_driver_has_put_there_meanwhile_stays(tmp_path):
    results = ResultsFolder(tmp_path)
    with store_in_waiting(results) as first, store_in_waiting(results) as second:
        first.put_in_place()
        open_store(results.tracking_uri).create_experiment("of the first")
        second.put_in_place()
    assert open_store(results.tracking_uri).get_experiment_by_name("of the first") is not None
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]
