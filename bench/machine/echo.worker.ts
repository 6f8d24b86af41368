import { type MessagePort, workerData } from 'node:worker_threads';

/** Sends back what comes. */
const port = workerData as MessagePort;
port.on('message', (message) => port.postMessage(message));
