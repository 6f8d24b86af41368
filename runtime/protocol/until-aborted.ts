/** What `value` comes to; rejects with the reason of `signal` as soon as that aborts, whatever becomes of `value` then. */
export async function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([value, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
