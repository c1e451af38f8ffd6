// Texts with values inserted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { filledIn } from "../../../web/texts.js";

test("French texts elide before names that begin with a vowel", () => {
  const said = (name) => filledIn("fr", "Avant que {name} joue : la pile de {name}", { name });
  assert.equal(said("Zoé"), "Avant que Zoé joue : la pile de Zoé");
  assert.equal(said("Émile"), "Avant qu’Émile joue : la pile d’Émile");
  assert.equal(filledIn("en", "de {name}", { name: "Alice" }), "de Alice");
});
