import type { RestBinding } from '../rest.ts';
import type { RestRoute } from '../rest-routes.ts';
import type { Dialect } from '../dialect.ts';
import { A2A_JSON } from '../../wire/headers.ts';

const LIST_QUERY = {
  contextId: 'text',
  status: 'text',
  pageSize: 'number',
  pageToken: 'text',
  historyLength: 'number',
  statusTimestampAfter: 'text',
  includeArtifacts: 'boolean',
} as const;

const ROUTES: readonly RestRoute[] = [
  { method: 'POST', path: '/message:send', operation: 'send' },
  { method: 'POST', path: '/message:stream', operation: 'stream' },
  { method: 'GET', path: '/tasks', operation: 'list', query: LIST_QUERY },
  { method: 'GET', path: '/tasks/{id}:subscribe', operation: 'subscribe' },
  { method: 'POST', path: '/tasks/{id}:subscribe', operation: 'subscribe' },
  { method: 'POST', path: '/tasks/{id}:cancel', operation: 'cancel' },
  {
    method: 'GET',
    path: '/tasks/{id}',
    operation: 'get',
    query: { historyLength: 'number', currentGeneration: 'number' },
  },
  { method: 'POST', path: '/tasks/{taskId}/pushNotificationConfigs', operation: 'createPush' },
  {
    method: 'GET',
    path: '/tasks/{taskId}/pushNotificationConfigs',
    operation: 'listPush',
    query: { pageSize: 'number', pageToken: 'text' },
  },
  { method: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'getPush' },
  { method: 'DELETE', path: '/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'deletePush' },
  { method: 'GET', path: '/extendedAgentCard', operation: 'extendedCard' },
];

/** A dialect of 1.x over plain HTTP, and others that have the same paths. */
export const restBindingOf = (dialect: Dialect, ...others: readonly Dialect[]): RestBinding => ({
  dialect,
  others,
  routes: ROUTES,
  contentType: A2A_JSON,
  isVersioned: true,
});
