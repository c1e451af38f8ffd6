// Helpers of rooms beside the service: hashes where browsers have none, the order of posts, QR codes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { modulesOf } from "../../../web/chatiere/web/art/qr.js";
import { postingOrder } from "../../../web/chatiere/web/shared/posting.js";
import { digest } from "../../../web/chatiere/web/shared/sha256.js";

test("SHA-256 is that of others, for all lengths about blocks", () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 37 + length) % 256);
    assert.deepEqual(digest(bytes), new Uint8Array(createHash("sha256").update(bytes).digest()));
  }
});

test("a room gets a chain that grows at both ends", () => {
  assert.deepEqual(postingOrder([3, 0, 2, 1], []), [0, 1, 2, 3]);
  assert.deepEqual(postingOrder([0, 1, 2, 3, 4], [2, 3]), [2, 3, 4, 1, 0]);
  assert.deepEqual(postingOrder([], [4]), []);
});

test("a QR code is the one that other encoders make", () => {
  // By uqr 0.1.3: { ecc: "L", minVersion: 6, maxVersion: 6, maskPattern: 0, border: 0 }.
  const rows = modulesOf("http://192.168.178.100:8080/#/room/AbCdEfGhIjKlMnOpQrStUv/chat_cartonne/5");
  const text = rows.map((row) => row.map(Number).join("")).join("\n");
  assert.equal(
    createHash("sha256").update(text).digest("hex"),
    "7669ad63eb375e54d66ed4cc92042ff5d9ae004ddcb0fa7cc5dc429d31ddbca8",
  );
});

test("a text that is too long has none", () => {
  assert.equal(modulesOf("x".repeat(134)).length, 41);
  assert.equal(modulesOf("x".repeat(135)), undefined);
});
