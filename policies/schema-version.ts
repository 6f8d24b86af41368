import { SCHEMA_VERSION } from '../runtime/protocol/envelope.ts';
import type { JudgePolicy } from '../runtime/protocol/policy.ts';

/** Refuses an envelope of a version that this runtime does not read: SCHEMA_VERSION_MISMATCH. */
export const schemaVersion = (): JudgePolicy => ({
  name: 'schema-version',
  judge: (request) =>
    request.schemaVersion === SCHEMA_VERSION
      ? undefined
      : {
          code: 'SCHEMA_VERSION_MISMATCH',
          reason: `Expected envelope schemaVersion ${SCHEMA_VERSION}, got ${request.schemaVersion}`,
        },
});
