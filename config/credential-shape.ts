// How a credential is told from other text, by the name it stands under and by its shape. Pure.
// Misses are possible and harmless (the value is masked nowhere); false alarms name the way out.

const NAME = /auth|token|secret|api[-_]?key|password|passwd|credential|cookie|private[-_]?key|signature/i;
const NAME_ALONE = /^(?:x-)?(?:key|sig|pass)$/i;

/** Prefixes that well-known issuers give to their keys. */
const ISSUED =
  /\b(?:sk|pk|rk|xox[abp]|gh[pousr]|glpat|hf|gsk|xai)[-_][A-Za-z0-9_-]{12,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{10,}\.[\w-]{10,}/;

export function isCredentialName(name: string): boolean {
  return NAME.test(name) || NAME_ALONE.test(name);
}

export function looksLikeCredential(text: string): boolean {
  return ISSUED.test(text);
}
