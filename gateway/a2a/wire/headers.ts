/** Names the version of A2A that a request speaks; also a query parameter. */
export const VERSION_HEADER = 'A2A-Version';

/** By which extensions are activated: since 1.0, and before. */
export const EXTENSION_HEADERS = ['A2A-Extensions', 'X-A2A-Extensions'] as const;

/** After which event of a stream its reader goes on. */
export const LAST_EVENT_HEADER = 'Last-Event-ID';

/** Of bodies of A2A 1.0 over HTTP. */
export const A2A_JSON = 'application/a2a+json';
