import { invalidOptions } from '../../runtime/protocol/errors.ts';

/** Lower case, so that no two ids are one file where names differ in case only. */
const CUSTOM = /^x-[a-z0-9][a-z0-9_-]{0,61}\/[a-z0-9][a-z0-9_-]{0,63}\/v(?:0|[1-9][0-9]{0,5})$/;
/** Windows has devices of these names in every folder. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/** Says whether a text is the id of a custom schema, which is also a path: `x-<namespace>/<schema>/v<n>` in lower case. */
export const isCustomSchemaId = (id: unknown): id is string =>
  typeof id === 'string' && CUSTOM.test(id) && !id.split('/').some((part) => DEVICE.test(part));

/** Throws INVALID_OPTIONS for what is no id of a custom schema. */
export function requireCustomSchemaId(id: unknown): asserts id is string {
  if (!isCustomSchemaId(id))
    throw invalidOptions('id', id, 'x-<namespace>/<schema>/v<n> in lower-case letters, digits, - and _');
}
