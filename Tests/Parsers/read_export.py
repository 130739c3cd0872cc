# SPDX-License-Identifier: Apache-2.0
"""Reads what the service sends to other systems from standard input, with readers that share no code with it, and prints
what it found as JSON.

usage: read_export.py otlp-metrics|otlp-logs|otlp-metrics-json|otlp-logs-json|remote-write-1|remote-write-2 < request
       read_export.py snappy < blocks    each block is behind its length and that of its content, 4 bytes little endian
"""

import base64
import json
import struct
import sys

import cramjam
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

OFFICIAL = {"otlp-metrics": ExportMetricsServiceRequest, "otlp-logs": ExportLogsServiceRequest}

# The messages of remote write, which no package on PyPI defines: the number, name and type of each field. A type with
# a star is a list.
COMMON = {
    "BucketSpan": {1: ("offset", "sint32"), 2: ("length", "uint32")},
    "Histogram": {
        1: ("count_int", "uint64"), 2: ("count_float", "double"), 3: ("sum", "double"), 4: ("schema", "sint32"),
        5: ("zero_threshold", "double"), 6: ("zero_count_int", "uint64"), 7: ("zero_count_float", "double"),
        8: ("negative_spans", "*BucketSpan"), 9: ("negative_deltas", "*sint64"), 10: ("negative_counts", "*double"),
        11: ("positive_spans", "*BucketSpan"), 12: ("positive_deltas", "*sint64"), 13: ("positive_counts", "*double"),
        14: ("reset_hint", "int32"), 15: ("timestamp", "int64"), 16: ("custom_values", "*double"),
        17: ("start_timestamp", "int64"),
    },
}
VERSIONS = {
    "remote-write-1": ("WriteRequest", COMMON | {
        "WriteRequest": {1: ("timeseries", "*TimeSeries"), 3: ("metadata", "*MetricMetadata")},
        "TimeSeries": {1: ("labels", "*Label"), 2: ("samples", "*Sample"), 3: ("exemplars", "*Exemplar"),
                       4: ("histograms", "*Histogram")},
        "Label": {1: ("name", "string"), 2: ("value", "string")},
        "Sample": {1: ("value", "double"), 2: ("timestamp", "int64")},
        "Exemplar": {1: ("labels", "*Label"), 2: ("value", "double"), 3: ("timestamp", "int64")},
        "MetricMetadata": {1: ("type", "int32"), 2: ("metric_family_name", "string"), 4: ("help", "string"),
                           5: ("unit", "string")},
    }),
    "remote-write-2": ("Request", COMMON | {
        "Request": {4: ("symbols", "*string"), 5: ("timeseries", "*TimeSeries")},
        "TimeSeries": {1: ("labels_refs", "*uint32"), 2: ("samples", "*Sample"), 3: ("histograms", "*Histogram"),
                       4: ("exemplars", "*Exemplar"), 5: ("metadata", "Metadata")},
        "Sample": {1: ("value", "double"), 2: ("timestamp", "int64"), 3: ("start_timestamp", "int64")},
        "Exemplar": {1: ("labels_refs", "*uint32"), 2: ("value", "double"), 3: ("timestamp", "int64")},
        "Metadata": {1: ("type", "int32"), 3: ("help_ref", "uint32"), 4: ("unit_ref", "uint32")},
    }),
}


def message_class(name, messages):
    """The class of a message that a table of fields describes."""
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="remote.proto", package="remote", syntax="proto3")
    for message, fields in messages.items():
        described = file.message_type.add(name=message)
        for number, (field, kind) in fields.items():
            label = kinds.LABEL_REPEATED if kind[0] == "*" else kinds.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            added = described.field.add(name=field, number=number, label=label)
            if kind in messages:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".remote.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"remote.{name}"))


def read_strictly(kind, data):
    """A message without unknown fields, which would be a mistake of the encoder."""
    message = kind()
    message.ParseFromString(data)
    known = kind()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    if known.ByteSize() != message.ByteSize():
        sys.exit("refused: it has fields that the definitions do not have")
    return message


def read(form, data):
    if form in VERSIONS:
        return read_strictly(message_class(*VERSIONS[form]), data)
    if form in OFFICIAL:
        return read_strictly(OFFICIAL[form], data)
    # The JSON of OTLP has its enums as numbers, which the parser takes, and must have no name that is unknown.
    return json_format.Parse(data, OFFICIAL[form.removesuffix("-json")](), ignore_unknown_fields=False)


def snappy(data):
    place = 0
    while place < len(data):
        length, size = struct.unpack_from("<II", data, place)
        block, content = data[place + 8:place + 8 + length], data[place + 8 + length:place + 8 + length + size]
        if bytes(cramjam.snappy.decompress_raw(block)) != content:
            sys.exit(f"refused: the block at {place} has another content: {base64.b64encode(content[:64])}")
        place += 8 + length + size
    return place


def main():
    form, data = sys.argv[1], sys.stdin.buffer.read()
    if form == "snappy":
        print(json.dumps(snappy(data)))
    elif form.startswith("compressed-"):
        content = bytes(cramjam.snappy.decompress_raw(data))
        print(json_format.MessageToJson(read(form.removeprefix("compressed-"), content)))
    else:
        print(json_format.MessageToJson(read(form, data)))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"refused: {error!r}")
