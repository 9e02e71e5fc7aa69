/**
 * Who hears of a query's answer, epoch by epoch: a bounded queue for each, and the newest epochs for those who come again.
 *
 * <p>Entry: {@link dev.millrace.engine.subscription.Subscription} for who hears, {@link
 * dev.millrace.engine.subscription.LocalSubscription} and {@link dev.millrace.engine.subscription.ChangeHistory} for the query.
 * A subscription is read by one thread and written by another. It knows neither plans nor tasks.
 */
package dev.millrace.engine.subscription;
