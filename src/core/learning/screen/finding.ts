/** What a lesson holds that a person must look at. */
type FindingKind =
  | 'hidden'
  | 'script'
  | 'language'
  | 'markup'
  | 'encoded'
  | 'address'
  | 'path'
  | 'environment'
  | 'command'
  | 'control'
  | 'weakens'
  | 'secret'
  | 'row';

export interface Finding {
  readonly kind: FindingKind;
  /** In plain words; completes "the lesson ...". */
  readonly reason: string;
}
