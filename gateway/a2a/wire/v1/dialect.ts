import { type Dialect, type RestBinding, A2A_JSON } from '../dialect.ts';
import { writeCard } from './card.ts';
import { writeError } from './errors.ts';
import {
  readCancel,
  readCreatePush,
  readDeletePush,
  readGet,
  readList,
  readListPush,
  readPush,
  readSend,
  readSubscribe,
  V1_ROUTES,
} from './requests.ts';
import {
  writeItem,
  writePush,
  writePushList,
  writeSent,
  writeTask,
  writeTasks,
  type WriteOptions,
} from './results.ts';
import { operationsOf, V1_METHODS } from '../method-names.ts';
import type { OperationName } from '../operations.ts';

function dialect(version: string, options: WriteOptions): Dialect {
  return {
    version,
    methods: operationsOf<OperationName>(V1_METHODS),
    read: {
      send: readSend,
      stream: readSend,
      get: readGet,
      list: readList,
      cancel: readCancel,
      subscribe: readSubscribe,
      createPush: readCreatePush,
      getPush: readPush,
      listPush: readListPush,
      deletePush: readDeletePush,
      extendedCard: () => undefined,
    },
    write: {
      send: (sent) => writeSent(sent, options),
      get: (task) => writeTask(task, options),
      list: (page) => writeTasks(page, options),
      cancel: (task) => writeTask(task, options),
      createPush: writePush,
      getPush: writePush,
      listPush: writePushList,
      deletePush: () => null,
      extendedCard: writeCard,
    },
    writeItem: (item) => writeItem(item, options),
    writeError,
    writeCard,
  };
}

/** A2A 1.0. It has no field for a task's generation, and clients that know no other fields refuse them. */
export const V1: Dialect = dialect('1.0', { generations: false });

/** What is known of 1.1: as 1.0, with the generation of tasks and changes. For those who ask for it. */
export const V1_1_DRAFT: Dialect = dialect('1.1', { generations: true });

/** A dialect of 1.x over plain HTTP, and others that have the same paths. */
export const restBindingOf = (dialect: Dialect, ...others: readonly Dialect[]): RestBinding => ({
  dialect,
  others,
  routes: V1_ROUTES,
  contentType: A2A_JSON,
  isVersioned: true,
});
