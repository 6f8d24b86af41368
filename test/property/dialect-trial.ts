export const RUNS = { numRuns: 200 };
export const OWNER = { principalId: 'alice', tenant: 'acme' };

/** The value as the other side has it, after the wire. */
export const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
