import type { FirewallGuard } from '../../runtime/protocol/firewall.ts';
import { mayNotGoOut } from '../../runtime/protocol/edge-errors.ts';
import { isOrreryError, OrreryError } from '../../runtime/protocol/errors.ts';
import { isToldAsItIs } from '../../runtime/protocol/told-failure.ts';

/** The error that goes out in place of one: of what is told as it is, the message and the details are looked at. */
export async function cleanError(error: unknown, clean: FirewallGuard['sanitizeResponse']): Promise<unknown> {
  if (!isOrreryError(error) || !isToldAsItIs(error)) return error;
  const { code, message, details } = error;
  const cleaned = await clean({ message, details });
  const told = typeof cleaned === 'object' && cleaned !== null && !Array.isArray(cleaned) ? cleaned : {};
  if (typeof told['message'] !== 'string') return mayNotGoOut();
  const more = told['details'];
  const kept = typeof more === 'object' && more !== null && !Array.isArray(more) ? more : {};
  return new OrreryError(code, told['message'], { details: kept });
}
