import type {
  AdmissionRule,
  Authenticator,
  EdgeRequest,
  RequestMemory,
} from '../../runtime/protocol/admission.ts';
import { unauthenticated } from '../../runtime/protocol/edge-errors.ts';
import { invalidOptions, OrreryError } from '../../runtime/protocol/errors.ts';
import { anonymousFrom, type Principal } from '../../runtime/protocol/principal.ts';

/**
 * - `authenticators` asked in this order; the first whose credentials a request has decides.
 * - `anonymous`      whether a request without any credentials is let in. @default false
 * - `rules`          asked in this order about whoever is known.
 * - `seen`           which requests have been let in, for authenticators that let each in once. @default each has its own memory
 */
export interface AdmissionOptions {
  readonly authenticators: readonly Authenticator[];
  readonly anonymous?: boolean;
  readonly rules?: readonly AdmissionRule[];
  readonly seen?: RequestMemory;
}

/**
 * Finds out who stands behind a request, and whether they may come in. `known`: who that is, where it has been found out
 * before: the rules alone are asked.
 *
 * Rejects with INVALID_OPTIONS, with UNAUTHENTICATED, with the code and reason of the rule that says no (`retryAfterMs` in the details, if it
 * may say yes later), and with what keeps it from finding out: then nobody is let in.
 */
export async function admit(
  request: EdgeRequest,
  options: AdmissionOptions,
  known?: Principal,
): Promise<Principal> {
  checkNames(options);
  const { rules = [] } = options;
  const principal = known ?? (await identify(request, options));
  for (const rule of rules) {
    const verdict = await rule.admit(principal, request);
    if (verdict === undefined) continue;
    const { code, reason, retryAfterMs } = verdict;
    const later = retryAfterMs === undefined ? {} : { retryAfterMs };
    throw new OrreryError(code, reason, { details: { reason, rule: rule.name, ...later } });
  }
  return principal;
}

const NAMES: readonly string[] = ['authenticators', 'anonymous', 'rules', 'seen'];

/** By hand, as it is done for every request: rules that are misspelt would let everybody in. */
function checkNames(options: AdmissionOptions): void {
  for (const name of Object.keys(options))
    if (!NAMES.includes(name))
      throw invalidOptions(`admit.${name}`, options[name as 'rules'], 'no option of this name');
  if (!Array.isArray(options.authenticators))
    throw invalidOptions('admit.authenticators', options.authenticators, 'a list of authenticators');
}

async function identify(
  request: EdgeRequest,
  { authenticators, anonymous = false, seen }: AdmissionOptions,
): Promise<Principal> {
  for (const authenticator of authenticators) {
    const principal = await authenticator.authenticate(request, seen);
    if (principal !== undefined) return principal;
  }
  if (anonymous) return anonymousFrom(request.address);
  const schemes = authenticators.map(({ scheme }) => scheme).join(', ');
  throw unauthenticated(schemes === '' ? 'nobody is let in' : `it has no credentials, expected ${schemes}`);
}
