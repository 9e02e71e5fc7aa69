/**
 * When a query takes what has come (Granules' scheduling strategies, thesis section 2.2): as it comes, every so often, by so many rows, or whichever of
 * these is first.
 *
 * <p>Entry: {@link dev.millrace.engine.intake.QueryIntakes}, one for each query. An intake is an epoch: at its end the answer has all that came before it. Between
 * intakes rows and watermarks wait in {@link dev.millrace.engine.intake.HeldItems} at the query's inputs, and the ends of epochs go past them, as if what
 * waits came later. So nothing of epochs, checkpoints or exchanges knows of schedules: what a subscriber sees are whole epochs, fewer of them.
 */
package dev.millrace.engine.intake;
