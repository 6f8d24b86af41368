/** The error for a mission that cannot be run. `faults` has a line for each fault, naming field and value. */
export class MissionError extends Error {
  readonly code = 'MISSION_INVALID';
  readonly source: string;
  readonly faults: readonly string[];

  constructor(source: string, faults: readonly string[]) {
    super(`The mission ${source} cannot be run:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'MissionError';
    this.source = source;
    this.faults = faults;
  }
}
