/**
 * Arithmetic on states at addresses, which generated code calls: exact sums of 128 and 320 bits, sums of doubles whose rounding
 * cancels out when rows are taken back, least and greatest values, quotients. All static, nothing is allocated.
 */
package dev.millrace.engine.aggregate.number;
