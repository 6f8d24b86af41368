import { unwrapData } from '../wire/answers.ts';
import { type OrderName, type RequestWriters, A2A_JSON } from '../wire/dialect.ts';
import { V01_METHODS, V03_METHODS, V1_METHODS } from '../wire/method-names.ts';
import type { RestRoute } from '../wire/rest-routes.ts';
import { writeRequest as writeV01 } from '../wire/v01/requests.ts';
import { V03_ROUTES, writeProtoRequest } from '../wire/v03/proto-requests.ts';
import { writeRequest as writeV03 } from '../wire/v03/requests.ts';
import { V1_ROUTES, writeRequest as writeV1 } from '../wire/v1/requests.ts';
import type { RemoteInterface } from './card/remote-card.ts';

/**
 * How a client speaks one version: what it writes. It reads the answers of all versions.
 *
 * - `version` as in the header `A2A-Version`; undefined for versions without that header.
 * - `methods` over JSON-RPC.
 * - `rest`    the same over plain HTTP; undefined where there is none.
 */
export interface ClientDialect {
  readonly name: RemoteInterface['version'];
  readonly version: string | undefined;
  readonly methods: { readonly [Name in OrderName]?: string };
  readonly write: RequestWriters;
  readonly rest?: ClientRest;
}

/**
 * - `contentType` of bodies.
 * - `hasEmptyBody` a POST whose path says everything has an empty object as its body.
 * - `unwrap`      the JSON of an answer, as it is over JSON-RPC.
 */
interface ClientRest {
  readonly routes: readonly RestRoute[];
  readonly write: RequestWriters;
  readonly contentType: string;
  readonly hasEmptyBody: boolean;
  unwrap(value: unknown): unknown;
}

export const CLIENT_DIALECTS: Readonly<Record<RemoteInterface['version'], ClientDialect>> = {
  '1.0': {
    name: '1.0',
    version: '1.0',
    methods: V1_METHODS,
    write: writeV1,
    rest: {
      routes: V1_ROUTES,
      write: writeV1,
      contentType: A2A_JSON,
      hasEmptyBody: true,
      unwrap: (value) => value,
    },
  },
  // 0.2 uses the dialect of 0.3.
  '0.3': {
    name: '0.3',
    version: '0.3',
    methods: V03_METHODS,
    write: writeV03,
    rest: {
      routes: V03_ROUTES,
      write: writeProtoRequest,
      contentType: 'application/json',
      hasEmptyBody: false,
      unwrap: unwrapData,
    },
  },
  '0.1': { name: '0.1', version: undefined, methods: V01_METHODS, write: writeV01 },
};
