import { encodeGrpcStatusDetails, GRPC_STATUS_CODE, GRPC_STATUS_DETAILS_BIN } from '@a2a-js/sdk/errors/grpc';
import { Metadata, type StatusObject } from '@grpc/grpc-js';
import type { OrreryError } from '../../../../runtime/protocol/errors.ts';
import { faultOf } from '../../wire/faults.ts';
import { rpcStatusOf } from '../rpc-status.ts';
import { writeError } from '../../wire/v1/errors.ts';

type ErrorInfo = { readonly reason: string; readonly metadata: Record<string, string> };

/** An error as a status of gRPC, with its ErrorInfo in `grpc-status-details-bin`. */
export function statusOf(error: OrreryError): Pick<StatusObject, 'code' | 'details' | 'metadata'> {
  const code = GRPC_STATUS_CODE[rpcStatusOf(faultOf(error)) as keyof typeof GRPC_STATUS_CODE];
  const { message, data } = writeError(error);
  const [info] = data as unknown as readonly [ErrorInfo];
  const metadata = new Metadata();
  metadata.set(GRPC_STATUS_DETAILS_BIN, encodeGrpcStatusDetails(code, message, info.reason, info.metadata));
  return { code, details: message, metadata };
}
