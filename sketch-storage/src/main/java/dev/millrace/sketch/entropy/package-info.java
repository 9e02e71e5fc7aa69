/**
 * Codes for sequences of whole numbers that follow each other closely: a static one, quick to read, and an adaptive one,
 * smaller and slower.
 *
 * <p>Entry: {@link dev.millrace.sketch.entropy.StaticCode} (tabled asymmetric numeral systems, J. Duda 2013, over a
 * fixed family of distributions, so that a model costs ten bits) and {@link dev.millrace.sketch.entropy.AdaptiveCode} (a
 * binary arithmetic coder over mixed order-1 and order-2 contexts, after M. Mahoney's PAQ). Both are deterministic
 * integer arithmetic: every JVM reads what any other wrote. Stateless but for tables that are made once.
 */
package dev.millrace.sketch.entropy;
