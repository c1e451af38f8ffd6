// A whole game with any client. The actions are random legal ones, alternately as ids and in typed form.

// A client has
//   newGame(game, players, seed)  resolves to a position with its legal actions and its score;
//   apply(state, action)          resolves to the next position, or throws;
//   byType(action)                returns the action without its id;
//   reasonOf(error)               returns the reason for a refusal, such as "INVALID_ACTION".

const NO_ACTION = 2 ** 32 - 1;

/** Play a game. Returns the ids of its actions, the totals, and the reason why an invalid action was refused. */
export async function play(client, game, players, seed) {
  let position = await client.newGame(game, players, seed);
  const refused = await client.apply(position.state, { id: NO_ACTION }).catch((error) => client.reasonOf(error));
  const random = randomNumbers(seed);
  const actions = [];
  while (position.end === undefined) {
    const action = position.legalActions[random() % position.legalActions.length];
    const sent = actions.length % 2 === 0 ? { id: action.id } : client.byType(action);
    actions.push(action.id);
    position = await client.apply(position.state, sent);
  }
  return { actions, totals: position.score.totals, refused };
}

/** Xorshift: each seed from 1 on has its own sequence. */
function randomNumbers(seed) {
  let bits = seed;
  return () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return bits >>> 0;
  };
}
