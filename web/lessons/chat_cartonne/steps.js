// The steps of the guided first game of Chat Cartonne. Each step shows a position of first.chatiere.

/** @type {readonly import("../../pages/learn.js").Step[]} */
export const steps = [
  { ply: 0 },
  { ply: 1, acts: true },
  { ply: 4, acts: true },
  { ply: 5, acts: true },
  { ply: 6, acts: true },
  { ply: 10, acts: true },
  { ply: 11, acts: true },
  { ply: 40, acts: true },
  { ply: 44, acts: true },
  { ply: 45, acts: true },
  { ply: 50 },
];
