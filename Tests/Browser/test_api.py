# SPDX-License-Identifier: Apache-2.0
"""The running service answers as its OpenAPI document says, to whatever schemathesis makes of it."""

import http.client
import json
import urllib.error

import hypothesis
import openapi_spec_validator
import pytest
import schemathesis

import events
from service import ROOT

# A stream has no end; it is read below. Of the others every operation gets so many requests, and so many seconds.
STREAM = "/api/v1/live"
EXAMPLES, SECONDS = 40, 20
DOCUMENT = json.loads(
    (ROOT / "Sources/Collector/Console/Assets/Document/openapi.json").read_text())
OPERATIONS = [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
              if path != STREAM]
schemathesis.checks.load_all_checks()
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.CHECKS.get_one("status_code_conformance"),
    schemathesis.checks.CHECKS.get_one("content_type_conformance"),
    schemathesis.checks.CHECKS.get_one("response_headers_conformance"),
    schemathesis.checks.CHECKS.get_one("response_schema_conformance"),
]


def test_the_document_is_valid_openapi_and_the_one_that_is_served(service):
    openapi_spec_validator.validate(DOCUMENT)
    assert service.get("/api/v1/openapi.json") == DOCUMENT


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_to_valid_and_invalid_requests_is_as_described_and_none_is_an_error(service, method, path):
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.config.update(base_url=service.url)
    operation = schema[path][method]
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    called = []
    for mode in modes:
        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
                             suppress_health_check=list(hypothesis.HealthCheck),
                             phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate])
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def each(case):
            called.append(case)
            case.call_and_validate(checks=CHECKS, timeout=SECONDS)

        try:
            each()
        except hypothesis.errors.Unsatisfiable:
            # Nothing that this operation takes can be wrong.
            assert mode == schemathesis.GenerationMode.NEGATIVE
    assert len(called) > 1


def stream(service, query="", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
    connection.request("GET", STREAM + query, headers=headers)
    answer = connection.getresponse()
    answer.connection = connection
    return answer


def message(answer):
    """The next event of a stream."""
    fields = {}
    while line := answer.readline().decode().rstrip("\n"):
        name, _, value = line.partition(": ")
        fields[name] = value
    return fields


def test_the_sources_add_up_to_what_was_received(service):
    health = service.get("/api/v1/health")
    received = next(each for each in health["accounts"] if each["name"].startswith("received"))
    assert sum(each["received"] for each in health["sources"]) == received["left"] > 0
    assert {"collector", "http"} == {each["source"] for each in health["sources"]}


def test_a_live_stream_sends_what_the_document_describes_and_goes_on_where_it_is_asked_to(service):
    answer = stream(service)
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
    first = message(answer)
    assert first["event"] == "events" and json.loads(first["data"]) == {"events": [], "leftOut": 0}
    service.post(events.batch(0, 3, "stream"))
    found = []
    while len(found) < 3:
        last = message(answer)
        found += json.loads(last["data"])["events"]
    assert [each["event"]["scheduleId"] for each in found] == ["stream-0", "stream-1", "stream-2"]
    answer.connection.close()
    answer.close()
    behind = int(found[0]["sequence"])
    for query, headers in [(f"?after={behind}", {}), ("", {"Last-Event-ID": str(behind)})]:
        answer = stream(service, query, **headers)
        again = json.loads(message(answer)["data"])["events"]
        assert [each["sequence"] for each in again] == [each["sequence"] for each in found[1:]]
        answer.connection.close()
        answer.close()


@pytest.mark.parametrize("query", ["kind=nothing", "after=-1", "after=x", "installation=7", "other=1",
                                   "platform=" + "x" * 513])
def test_a_live_stream_with_a_wrong_parameter_is_a_problem_that_names_what_was_expected(service, query):
    answer = stream(service, f"?{query}")
    assert answer.status == 400 and answer.headers["Content-Type"] == "application/problem+json"
    assert "Expected" in json.loads(answer.read())["detail"]


def test_the_document_names_the_parameters_that_a_live_stream_takes(service):
    named = [each["name"] for each in DOCUMENT["paths"][STREAM]["get"]["parameters"] if each["in"] == "query"]
    told = json.loads(stream(service, "?other=1").read())["detail"]
    assert sorted(named) == sorted(told.removeprefix("Expected one of ").split(", found")[0].split(", "))
    with pytest.raises(urllib.error.HTTPError):
        service.get(f"{STREAM}?limit=5")
