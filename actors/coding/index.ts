export {
  CodeChangeRequest,
  CodeChangeResult,
  codeChange,
  CodingLimits,
  CodingPermission,
} from './code-change.ts';
export { CodingEvent, CodingUsage, ToolKind } from './coding-event.ts';
