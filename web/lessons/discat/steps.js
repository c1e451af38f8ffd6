// The steps of the guided first game of Discat. Each step shows a position of first.chatiere.

/** @type {readonly import("../../pages/learn.js").Step[]} */
export const steps = [
  { ply: 0 },
  { ply: 0, acts: true },
  { ply: 2, acts: true },
  { ply: 4, acts: true },
  { ply: 6, acts: true },
  { ply: 7 },
  { ply: 14, acts: true },
  { ply: 26, acts: true },
  { ply: 28 },
];
