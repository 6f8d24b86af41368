import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  ServerCallContext,
  type TaskStore,
  UnauthenticatedUser,
} from '@a2a-js/sdk/server';
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Kysely, SqliteDialect } from 'kysely';
import { nodeSqlite } from '../../actors/skills/store/node-sqlite.ts';
import { ANSWER, CHUNK, chunksIn, serverOrderOf, WORK } from './server-order.ts';

// The published SDK's server as its documentation sets it up, in a process of its own.

const { kept, isSynced, tasks } = serverOrderOf(process.argv);

const statusOf = (state: TaskState): TaskStatus => ({
  state,
  message: undefined,
  timestamp: new Date().toISOString(),
});

const textPart = (value: string) => ({
  content: { $case: 'text' as const, value },
  mediaType: '',
  filename: '',
  metadata: undefined,
});

const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const ids = { taskId, contextId, metadata: undefined };
    const opened: Task = task ?? {
      id: taskId,
      contextId,
      status: statusOf(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    };
    bus.publish(AgentEvent.task(opened));
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: statusOf(TaskState.TASK_STATE_WORKING) }));
    const [part] = userMessage.parts;
    const count = chunksIn(part?.content?.$case === 'text' ? part.content.value : '');
    for (let at = 0; at < count; at++) {
      bus.publish(
        AgentEvent.artifactUpdate({
          ...ids,
          artifact: artifactOf(count === 1 ? ANSWER : CHUNK),
          append: at > 0,
          lastChunk: at === count - 1,
        }),
      );
    }
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: statusOf(TaskState.TASK_STATE_COMPLETED) }));
    bus.finished();
  },
  cancelTask: async () => undefined,
};

const artifactOf = (text: string) => ({
  artifactId: 'report',
  name: 'report',
  description: '',
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
});

/** The table that the SDK's own tool makes. */
async function openStore(file: string | undefined): Promise<TaskStore> {
  if (file === undefined) return new InMemoryTaskStore();
  const db = new Kysely<Record<string, never>>({
    dialect: new SqliteDialect({ database: nodeSqlite(file, { isSynced }) }),
  });
  const columns = ['tenant', 'owner', 'id', 'context_id'] as const;
  let table = db.schema.createTable('tasks');
  for (const column of columns) table = table.addColumn(column, 'varchar(255)', (it) => it.notNull());
  table = table.addColumn('status_last_updated', 'bigint', (it) => it.notNull());
  for (const column of ['status_state', 'status', 'artifacts', 'history', 'metadata', 'protocol_version'])
    table = table.addColumn(column, 'text');
  await table.addPrimaryKeyConstraint('tasks_pkey', ['tenant', 'owner', 'id'] as never[]).execute();
  const scope = ['tenant', 'owner'];
  const byTime = [...scope, 'status_last_updated', 'id'];
  await db.schema.createIndex('tasks_scope_updated_idx').on('tasks').columns(byTime).execute();
  const byContext = [...scope, 'context_id', 'status_last_updated', 'id'];
  await db.schema.createIndex('tasks_scope_context_updated_idx').on('tasks').columns(byContext).execute();
  return new DatabaseTaskStore(db);
}

async function fill(store: TaskStore, count: number): Promise<void> {
  const context = new ServerCallContext({
    user: new UnauthenticatedUser(),
    tenant: '',
    requestedVersion: '1.0',
  });
  for (let at = 0; at < count; at++) {
    const id = randomUUID();
    const contextId = randomUUID();
    const message = {
      messageId: randomUUID(),
      contextId,
      taskId: id,
      role: Role.ROLE_USER,
      parts: [textPart(WORK)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const status = {
      ...statusOf(TaskState.TASK_STATE_COMPLETED),
      timestamp: new Date(Date.now() - at).toISOString(),
    };
    await store.save(
      { id, contextId, status, artifacts: [artifactOf(ANSWER)], history: [message], metadata: undefined },
      context,
    );
  }
}

const store = await openStore(kept);
await fill(store, tasks);

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/rpc` }));
});
const card = {
  name: 'bench',
  description: 'Says what is to be done',
  version: '1.0.0',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
};
const requestHandler = new DefaultRequestHandler(card, store, executor);
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));

process.stdin.on('end', () => process.exit(0)).resume();
