// The steps of the guided first game of Chat perché. Each step shows a position of first.chatiere.

/** @type {readonly import("../../pages/learn.js").Step[]} */
export const steps = [
  { ply: 0 },
  { ply: 0, acts: true },
  { ply: 10, acts: true },
  { ply: 13, acts: true },
  { ply: 17, acts: true },
  { ply: 18, acts: true },
  { ply: 23, acts: true },
  { ply: 25, acts: true },
  { ply: 77, acts: true },
  { ply: 78 },
];
