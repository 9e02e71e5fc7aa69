/**
 * Epochs: when they end, who has to be done before one is visible, and the moment in between when nothing moves.
 *
 * <p>Entry: {@link dev.millrace.engine.epoch.Epochs} numbers the epochs of all {@link dev.millrace.engine.epoch.EpochDomain}s.
 * A domain is a set of inputs and outputs that share rows, and so the same epochs: the queries over one stream
 * are one, a query over its own file is another, which neither waits. Domains only ever merge. A query that comes to a
 * domain begins between two epochs where it reads, and has its first epoch alone; others may be at work on earlier ones.
 *
 * <pre>
 *   rows arrive -> open epoch is dirty -> all inputs dry, or 100 ms over -> closed: each input ends it in-band
 *     -> an output is done with it, and what callers brought is on disk (see {@link dev.millrace.engine.epoch.Journal}): it
 *        stamps it with a version, which one write makes current
 *     -> all have: committed
 * </pre>
 *
 * Outputs of a domain do not wait for each other; who reads several has them come to one epoch by a {@link
 * dev.millrace.engine.epoch.Cut}.
 *
 * One lock guards all of it; it is taken a few times per epoch, never per batch.
 */
package dev.millrace.engine.epoch;
