// The steps of the guided first game of Momistigri. Each step shows a position of first.chatiere.

/** @type {readonly import("../../pages/learn.js").Step[]} */
export const steps = [
  { ply: 1 },
  { ply: 1, acts: true },
  { ply: 6, acts: true },
  { ply: 18, acts: true },
  { ply: 22, acts: true },
  { ply: 23 },
  { ply: 37, acts: true },
  { ply: 38, acts: true },
  { ply: 39, acts: true },
  { ply: 40, acts: true },
  { ply: 47, acts: true },
  { ply: 48 },
];
