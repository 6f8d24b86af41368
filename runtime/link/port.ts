import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** What links and connections need of a `MessagePort`: one of two connected ends. */
export interface Port {
  post(message: unknown, transfer?: readonly unknown[]): void;
  /** The next message that is already here, taken out of turn; undefined when none is. */
  take(): { message: unknown } | undefined;
  /** Sets the only listener, and starts the flow of messages. */
  onMessage(listener: (message: unknown) => void): void;
  /** Calls `listener` when the other end is gone and everything that it sent has been delivered. */
  onClose(listener: () => void): void;
  /** Keeps the thread alive while the port is open. */
  hold(): void;
  close(): void;
}

/** A `MessagePort` of node as a `Port`. It does not keep the process alive. */
export function nodePort(port: MessagePort): Port {
  let isClosed = false;
  port.on('close', () => {
    isClosed = true;
  });
  return {
    post: (message, transfer) => {
      if (transfer === undefined) port.postMessage(message);
      else port.postMessage(message, transfer as never);
    },
    // Node itself ends the process when a closed port is asked.
    take: () => (isClosed ? undefined : receiveMessageOnPort(port)),
    onMessage: (listener) => {
      port.on('message', listener);
      port.unref();
    },
    onClose: (listener) => {
      port.on('close', listener);
    },
    hold: () => port.ref(),
    close: () => {
      isClosed = true;
      port.close();
    },
  };
}
