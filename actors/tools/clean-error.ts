import type { FirewallGuard } from '../../runtime/protocol/firewall.ts';
import { isOrreryError, OrreryError, refused } from '../../runtime/protocol/errors.ts';
import { isToldAsItIs } from '../../runtime/protocol/told-failure.ts';

/** The error that goes out in place of one: of what is told as it is, the message and the details are looked at. */
export async function cleanError(error: unknown, clean: FirewallGuard['sanitizeResponse']): Promise<unknown> {
  if (!isOrreryError(error) || !isToldAsItIs(error)) return error;
  const { code, message, details } = error;
  const cleaned = await clean({ message, details });
  const told = typeof cleaned === 'object' && cleaned !== null && !Array.isArray(cleaned) ? cleaned : {};
  if (typeof told['message'] !== 'string') return refused('What the agent has answered may not go out');
  const more = told['details'];
  const kept = typeof more === 'object' && more !== null && !Array.isArray(more) ? more : {};
  return new OrreryError(code, told['message'], { details: kept });
}
