import { parentPort } from 'node:worker_threads';
import * as comlink from 'comlink';
import * as xstate from 'xstate';
import * as zod from 'zod';

parentPort.on('message', () => undefined);
parentPort.postMessage([comlink, xstate, zod].length);
