// Sealed tables as bytes and as text.

import { clearField, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";

import { sha256 } from "./bytes.js";
import {
  type SealedTable,
  SealedTableSchema,
  type TableHeader,
  TableHeaderSchema,
} from "./generated/chatiere/v1/table_service_pb.js";

/**
 * Return what everybody may know of a table; only the service can say whether it is authentic.
 *
 * Throws for bytes that are no table.
 */
export function headerOf(table: Uint8Array): TableHeader {
  try {
    return fromBinary(TableHeaderSchema, sealed(table).header);
  } catch (error) {
    throw new Error("the bytes are no sealed table", { cause: error });
  }
}

/**
 * Return a table's hash, 32 bytes: the SHA-256 of it without acknowledgements.
 *
 * It is `parent` in the headers of the tables that are made of it. Throws for bytes that are no table.
 */
export function hashOf(table: Uint8Array): Promise<Uint8Array> {
  const bare = sealed(table);
  clearField(bare, SealedTableSchema.field.acknowledgements);
  return sha256(toBinary(SealedTableSchema, bare));
}

/** Return a table as text, for links and chats: base64url without padding. */
export function textOf(table: Uint8Array): string {
  return base64Encode(table, "url");
}

/** Return the table that a text is, white space around it aside. Throws for another text. */
export function tableOf(text: string): Uint8Array {
  const stripped = text.trim();
  // Every fourth digit ends three bytes: one digit alone says nothing.
  if (!/^[A-Za-z0-9_-]*$/.test(stripped) || stripped.length % 4 === 1) {
    throw new Error("a table as text is base64url");
  }
  return base64Decode(stripped);
}

function sealed(table: Uint8Array): SealedTable {
  try {
    return fromBinary(SealedTableSchema, table);
  } catch (error) {
    throw new Error("the bytes are no sealed table", { cause: error });
  }
}
