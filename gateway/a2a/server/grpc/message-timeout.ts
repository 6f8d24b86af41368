import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import type { Clock } from '../../../../runtime/protocol/seams.ts';

/** Of HTTP/2: nobody wants the rest of what is sent. */
const NO_ERROR = 0;

/**
 * Ends a call whose message is not here as a whole within `messageTimeoutMs` of its beginning: DEADLINE_EXCEEDED. What had come
 * of it is let go.
 */
export function messageTimeout(
  messageTimeoutMs: number,
  { clock }: { readonly clock: Pick<Clock, 'setTimer'> },
): ServerInterceptor {
  return (_method, call) => {
    let stop: () => void = () => undefined;
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        stop = clock.setTimer(messageTimeoutMs, () => cut(call, messageTimeoutMs));
        next(metadata);
      })
      .withOnReceiveMessage((message, next) => {
        stop();
        next(message);
      })
      .withOnReceiveHalfClose((next) => {
        stop();
        next();
      })
      .withOnCancel(() => stop())
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}

function cut(call: ServerInterceptingCallInterface, messageTimeoutMs: number): void {
  const details = `The message was not here as a whole within ${messageTimeoutMs} ms`;
  call.sendStatus({ code: status.DEADLINE_EXCEEDED, details });
  // gRPC leaves the stream open for what its caller still sends, and keeps what it has sent.
  const { stream } = call as unknown as { readonly stream?: { close(code: number): void } };
  stream?.close(NO_ERROR);
}
