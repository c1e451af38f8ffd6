// A bot for any game that plays the legal action of the highest id: chatiere arena --bots "cmd:node highest.js".
const lines = require("node:readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const asked = JSON.parse(line);
  const answer =
    asked.type === "hello"
      ? { type: "hello", protocol: 1, name: "Highest", reproducible: true }
      : { id: asked.id, actions: asked.decisions.map((each) => Math.max(...each.legal)) };
  console.log(JSON.stringify(answer));
});
