/**
 * A state of a drawing.
 *
 * - `id`     its dotted path, as in the names of states: `pending.open`.
 * - `parent` the id of the state that it is in, unless it is a state of the machine itself.
 */
export interface DrawnState {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly initial?: string;
  readonly description?: string;
}

/**
 * A transition of a drawing, in the words of `drawMachine`.
 *
 * - `from`    the id of a state; '' is the machine itself, which takes the event in any state.
 * - `to`      where it leads; the same as `from` if the state is not left.
 * - `delayed` the machine sends the event to itself after some time.
 */
export interface DrawnTransition {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly guard?: string;
  readonly delayed?: boolean;
}

/**
 * The definition of a machine as data that JSON carries.
 *
 * - `agentId` of the agent whose own machine it is.
 * - `initial` the names of the states it begins in, as in the state of an actor's row.
 */
export interface MachineDrawing {
  readonly id: string;
  readonly agentId?: string;
  readonly initial: string;
  readonly states: readonly DrawnState[];
  readonly transitions: readonly DrawnTransition[];
}
