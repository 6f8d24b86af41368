import type { Clock } from '../../runtime/protocol/seams.ts';
import { connectionLost, type Connection } from '../../runtime/protocol/transport.ts';
import { CHANNEL_PROTOCOL } from './byte-frame.ts';

/**
 * Says which protocol is spoken, and waits until the other end says the same: an open stream proves neither that data flows nor
 * who reads it. Rejects with DELIVERY_FAILED when the connection ends, says something else, or says nothing for `timeoutMs`.
 */
export async function greet(connection: Connection, clock: Clock, timeoutMs: number): Promise<void> {
  const greeted = Promise.withResolvers<void>();
  const stopListening = connection.onFrame((frame) => {
    stopListening();
    if (frame === CHANNEL_PROTOCOL) greeted.resolve();
    else greeted.reject(connectionLost(`the other end does not speak ${CHANNEL_PROTOCOL}`));
  });
  const forget = connection.onLost((reason) => greeted.reject(connectionLost(reason)));
  const cancel = clock.setTimer(timeoutMs, () =>
    greeted.reject(connectionLost(`the other end said nothing for ${timeoutMs} ms`)),
  );
  connection.send(CHANNEL_PROTOCOL).catch(greeted.reject);
  try {
    await greeted.promise;
  } finally {
    cancel();
    forget();
    stopListening();
  }
}
