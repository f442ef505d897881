/** The public API, described in `docs/api.md`. It may change until version 1.0. */
export type {
  AgentOptions,
  AgentReply,
  AgentRequest,
  AgentWork,
  CreateOptions,
  CustomAgent,
  Item,
  ItemReport,
  LessonList,
  LimitOptions,
  ResetOptions,
  ResetResult,
  RetryOptions,
  Run,
  RunOptions,
  RunResult,
  Shift,
  StopOptions,
  TaskSource,
} from './app/api.ts';
export { createShift, openShift } from './app/shift.ts';
export type { ShiftStatus } from './core/folds/shift-status.ts';
export type { LessonRecord, LessonState } from './core/learning/lesson.ts';
export { type ErrorCode, EXIT, NightshiftError } from './core/model/errors.ts';
export type { Counts, EventType, NightshiftEvent } from './core/model/events.ts';
export type { Role, Usage } from './core/model/model.ts';
export type { Status } from './core/model/status.ts';
