import { z } from 'zod';
import { Mission } from './mission.ts';

/** Where the JSON Schema of a mission of version 1 is meant to be known by; nothing has to be there. */
const SCHEMA_ID = 'urn:orrery:mission:1';

/**
 * The JSON Schema (draft 2020-12) of a mission file. What it refuses cannot be run; that ids, dependencies and gates make
 * sense together, only reading the mission tells.
 */
export const missionJsonSchema = (): Readonly<Record<string, unknown>> => {
  const { $schema, ...schema } = z.toJSONSchema(Mission, { io: 'input' });
  return { $schema, $id: SCHEMA_ID, title: 'A mission of Orrery', ...schema };
};
