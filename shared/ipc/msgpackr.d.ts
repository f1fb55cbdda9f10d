// The build of msgpackr without native code and without code generation, which its own types do not name.
declare module 'msgpackr/index-no-eval' {
  import * as msgpackr from 'msgpackr';
  export default msgpackr;
}
