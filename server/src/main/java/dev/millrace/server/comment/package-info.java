/**
 * COMMENT ON: what somebody says of a thing of the catalog.
 *
 * <p>Entry: {@link dev.millrace.server.comment.CommentsOnThings}, on the thread of the session that says it. The texts are in {@link
 * dev.millrace.server.catalog.Comments}; those on roles are part of the roles.
 */
package dev.millrace.server.comment;
