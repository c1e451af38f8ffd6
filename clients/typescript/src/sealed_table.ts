import { fromBinary } from "@bufbuild/protobuf";

import { type TableHeader, TableHeaderSchema } from "./generated/chatiere/v1/table_service_pb.js";
import { readTable } from "./shared/sealed_table.js";

/**
 * Return the public part of a table. Only the service can verify that the table is authentic.
 *
 * Throws RangeError if the bytes are not a table.
 */
export function headerOf(table: Uint8Array): TableHeader {
  return fromBinary(TableHeaderSchema, readTable(table).header);
}
