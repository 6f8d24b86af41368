import type { Dialect, RestBinding } from '../dialect.ts';
import { writeCard } from './card.ts';
import { writeError } from './errors.ts';
import { readPush, readPushId, readPushList, readSend, readTask, readTaskId } from './requests.ts';
import { readPushBody, readSendBody, V03_ROUTES } from './proto-requests.ts';
import {
  writeProtoCard,
  writeProtoItem,
  writeProtoPush,
  writeProtoSent,
  writeProtoTask,
} from './proto-results.ts';
import { writeItem, writeSent, writeTask, writeTaskPush } from './results.ts';
import { operationsOf, V03_METHODS } from '../method-names.ts';
import type { OperationName } from '../operations.ts';

/** A2A 0.3 over JSON-RPC: what a request speaks that names no version. */
export const V03: Dialect = {
  version: '0.3',
  methods: operationsOf<OperationName>(V03_METHODS),
  read: {
    send: readSend,
    stream: readSend,
    get: readTask,
    cancel: readTaskId,
    subscribe: readTaskId,
    createPush: readPush,
    getPush: readPushId,
    listPush: readPushList,
    deletePush: readPushId,
    extendedCard: () => undefined,
  },
  write: {
    send: writeSent,
    get: writeTask,
    cancel: writeTask,
    createPush: writeTaskPush,
    getPush: writeTaskPush,
    listPush: ({ configs }) => configs.map(writeTaskPush),
    deletePush: () => null,
    extendedCard: writeCard,
  },
  writeItem,
  writeError,
  writeCard,
};

/** A2A 0.3 over REST, as its a2a.proto has it. */
const V03_PROTO: Dialect = {
  ...V03,
  methods: {},
  read: { ...V03.read, send: readSendBody, stream: readSendBody, createPush: readPushBody },
  write: {
    send: writeProtoSent,
    get: writeProtoTask,
    cancel: writeProtoTask,
    createPush: writeProtoPush,
    getPush: writeProtoPush,
    listPush: ({ configs, nextPageToken }) => ({ configs: configs.map(writeProtoPush), nextPageToken }),
    deletePush: () => null,
    extendedCard: writeProtoCard,
  },
  writeItem: writeProtoItem,
};

/** REST of 0.3, below `/v1`: by their paths alone these requests say what they speak. */
export const V03_REST: RestBinding = {
  dialect: V03_PROTO,
  contentType: 'application/json',
  isVersioned: false,
  routes: V03_ROUTES,
  writeError: (error) => {
    const { code, message, httpStatus, data } = writeError(error);
    return { status: httpStatus, body: { code, message, ...(data === undefined ? {} : { data }) } };
  },
};
