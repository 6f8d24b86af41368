import type { Artifact, Part, Task, TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';
import type { Json } from '../../a2a/wire/json.ts';
import type { Dialect } from '../../a2a/wire/dialect.ts';
import { isoOf } from '../../a2a/wire/old-words.ts';
import type { OperationName } from '../../a2a/wire/operations.ts';
import { defined, writeTagged } from '../../a2a/wire/parts.ts';

type Words = { readonly [key: string]: Json };

/** The methods of XPR's protocol, and the operations that they mean. */
export const XPR_METHODS = {
  'message/send': 'send',
  'tasks/get': 'get',
  'tasks/cancel': 'cancel',
} as const satisfies Dialect['methods'] & Readonly<Record<string, OperationName>>;
export type XprMethod = keyof typeof XPR_METHODS;

/** XPR has six states: what it lacks shows as the nearest (C-11). */
const STATES: Readonly<Record<TaskState, string>> = {
  submitted: 'submitted',
  working: 'working',
  'input-required': 'input-required',
  'auth-required': 'input-required',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  rejected: 'failed',
};

/** A task in the words of XPR: `index` of an artifact is its place, times are in ISO 8601. */
export function writeXprTask({ id, contextId, status, artifacts, history, metadata }: Task): Words {
  const { state, message, atMs } = status;
  const made = artifacts.map(writeArtifact);
  return {
    id,
    contextId,
    status: {
      state: STATES[state],
      ...(message === undefined ? {} : { message: writeMessage(message) }),
      timestamp: isoOf(atMs),
    },
    ...(made.length > 0 || state === 'completed' ? { artifacts: made } : {}),
    ...(history.length > 0 ? { history: history.map(writeMessage) } : {}),
    ...defined({ metadata }),
  };
}

const writeArtifact = ({ name, description, parts, metadata }: Artifact, index: number): Words => ({
  ...defined({ name, description }),
  parts: parts.map(writePart),
  index,
  ...defined({ metadata }),
});

const writeMessage = ({ role, parts, metadata }: TaskMessage): Words => ({
  role,
  parts: parts.map(writePart),
  ...defined({ metadata }),
});

/** A file always says what it is. */
const writePart = (part: Part): Json =>
  writeTagged(
    'raw' in part || 'url' in part ? { mediaType: 'application/octet-stream', ...part } : part,
    'type',
  );
