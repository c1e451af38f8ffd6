// The steps of the guided first game of Chatpentiers. Each step shows a position of first.chatiere.

/** @type {readonly import("../../pages/learn.js").Step[]} */
export const steps = [
  { ply: 0 },
  { ply: 1, acts: true },
  { ply: 3 },
  { ply: 8, acts: true },
  { ply: 10, acts: true },
  { ply: 11, acts: true },
  { ply: 12, acts: true },
  { ply: 15, acts: true },
  { ply: 33, acts: true },
  { ply: 198 },
];
