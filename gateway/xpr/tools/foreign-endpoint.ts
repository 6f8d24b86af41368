import { isOrreryError, refused } from '../../../runtime/protocol/errors.ts';
import { type CheckedUrlRules, checkedAddresses, parseForeignUrl } from '../../reach/foreign-url.ts';

/**
 * Throws REFUSED, naming the account and its endpoint, unless that may be called: anybody can write on the chain what they
 * like. Over TLS, a name that is made to lead elsewhere after it was checked has no certificate.
 */
export async function requireForeign(
  account: string,
  endpoint: string,
  rules: CheckedUrlRules,
): Promise<void> {
  const refuse = (url: string, expected: string) =>
    refused(`The endpoint of "${account}" is not called: it is "${url}", expected ${expected}`, { account });
  const target = parseForeignUrl(endpoint, rules, refuse);
  await checkedAddresses(target, rules, refuse).catch((error: unknown) => {
    if (isOrreryError(error)) throw error;
    throw refuse(target.href, 'a name that has addresses');
  });
}
