import { type OrreryError, toldDetails } from '../../../../runtime/protocol/errors.ts';
import type { Json } from '../json.ts';
import type { WrittenError } from '../dialect.ts';
import { FAULT_ROWS, faultOf } from '../faults.ts';

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const DOMAIN = 'a2a-protocol.org';

/** The error with its ErrorInfo; facts about it are metadata, which are texts there: `code` is its own. */
export function writeError(error: OrreryError): WrittenError {
  const fault = faultOf(error);
  const { code, httpStatus, reason = fault } = FAULT_ROWS[fault];
  const info = { '@type': ERROR_INFO, reason, domain: DOMAIN, metadata: metadataOf(error) };
  return { code, httpStatus, message: error.message, data: [info] };
}

function metadataOf(error: OrreryError): { readonly [key: string]: Json } {
  const facts = Object.entries(toldDetails(error))
    .filter(([name, value]) => name !== 'fault' && value !== undefined)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  const own = ownCodeOf(error);
  const said = own === undefined ? facts : [['code', own], ...facts];
  return Object.fromEntries(said) as { readonly [key: string]: Json };
}

/** The code of an error that a rule or the system has made; one that is a fault is known by that. */
export const ownCodeOf = (error: OrreryError): string | undefined =>
  error.details['fault'] === undefined && faultOf(error) !== 'INTERNAL' ? error.code : undefined;
