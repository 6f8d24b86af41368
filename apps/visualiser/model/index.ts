/** What a page, a terminal and a command line know of a recorded or running team. No clock, no browser, no Node. */
export * from './conversation.ts';
export { durationText, sinceStart } from './durations.ts';
export { type Entry, SceneFold, timeOf } from './fold-scene.ts';
export { readDrawing } from './read-drawing.ts';
export {
  type ConversationQuery,
  type ConversationSummary,
  Recording,
  type RecordingOptions,
} from './recording.ts';
export * from './scene.ts';
export { nameAtNode } from './scene-draft.ts';
export { sentenceOf } from './sentence.ts';
export { shownText } from './shown-text.ts';
export { isTaskOver, orderFor, taskState } from './task-state.ts';
export type { HeaderAgent, TraceHeader } from './trace-header.ts';
export { type TraceFault, TraceReader, type TraceSink } from './trace-reader.ts';
export { groupedTroubles, nameIn, type Trouble, troublesOf, type Wait, waitsOf } from './troubles.ts';
export { retryDelayMs, type WatchMessage, WatchReader } from './watch-reader.ts';
export * from './watch-state.ts';
export {
  conversationIdOf,
  type Fact,
  isSystemId,
  machineIdOf,
  readEvent,
  requestOf,
  type WatchedEvent,
} from './watched-event.ts';
export { activeStates } from './active-states.ts';
export { type GraphBox, type GraphLayout, type GraphLine, layoutGraph, type Point } from './layout-graph.ts';
export {
  isWrong,
  lifelines,
  rowText,
  SEQUENCE,
  sequenceDrawing,
  sequenceHead,
  sequenceRow,
  sequenceSize,
  sequenceSvg,
} from './sequence.ts';
export { sequenceMermaid } from './sequence-mermaid.ts';
export { statechartDrawing, statechartSvg } from './statechart.ts';
export { statechartMermaid } from './statechart-mermaid.ts';
export { type SvgNode, svgText } from './svg.ts';
export { entryText, isBadEntry } from './event-text.ts';
export { drawingOfSteps } from './drawing-of-steps.ts';
