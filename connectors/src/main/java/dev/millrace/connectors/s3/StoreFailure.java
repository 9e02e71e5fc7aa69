package dev.millrace.connectors.s3;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** What a store says, in one line of ours. */
final class StoreFailure {
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int FORBIDDEN = 403;
    private static final int UNAUTHORIZED = 401;
    private static final int MOVED = 301;
    private static final int PRECONDITION_FAILED = 412;
    private static final int RANGE_NOT_SATISFIABLE = 416;
    private static final int MOST_CAUSES = 8;

    private StoreFailure() {}

    private static String code(AwsServiceException e) {
        AwsErrorDetails details = e.awsErrorDetails();
        return details == null || details.errorCode() == null ? "" : details.errorCode();
    }

    /** Whether there is no such object, or no such upload; not if the bucket is missing. */
    static boolean isNoSuchObject(SdkException e) {
        return e instanceof AwsServiceException said
                && said.statusCode() == NOT_FOUND
                && !code(said).equals("NoSuchBucket");
    }

    /** Whether an upload is there without parts that it is to have. */
    static boolean isPartsLost(SdkException e) {
        return e instanceof AwsServiceException said
                && said.statusCode() == BAD_REQUEST
                && code(said).equals("InvalidPart");
    }

    static MillraceException of(String where, ObjectName name, SdkException e) {
        if (!(e instanceof AwsServiceException said)) {
            return MillraceException.external(
                            SqlState.CONNECTION_FAILURE, where + " does not answer: " + innermost(e), e)
                    .withHint("check s3.endpoint and s3.region, and that this machine reaches it");
        }
        String code = code(said);
        return switch (said.statusCode()) {
            case NOT_FOUND ->
                MillraceException.external(
                        SqlState.UNDEFINED_FILE,
                        code.equals("NoSuchBucket")
                                ? "bucket \"" + name.bucket() + "\" does not exist"
                                : "object \"" + name + "\" does not exist",
                        e);
            case FORBIDDEN, UNAUTHORIZED ->
                MillraceException.external(
                                SqlState.INSUFFICIENT_PRIVILEGE,
                                "\"" + name + "\" is refused by " + where + (code.isEmpty() ? "" : ": " + code),
                                e)
                        .withHint("check s3.access_key_id, s3.secret_access_key, and what the store lets them do");
            case MOVED ->
                MillraceException.external(
                                SqlState.CONNECTION_FAILURE,
                                "bucket \"" + name.bucket() + "\" is not in the region that was asked",
                                e)
                        .withHint("check s3.region");
            case PRECONDITION_FAILED, RANGE_NOT_SATISFIABLE ->
                MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "object \"" + name + "\" is not the one any more that was listed");
            default ->
                MillraceException.external(
                        SqlState.IO_ERROR,
                        where + " answers " + said.statusCode() + (code.isEmpty() ? "" : " (" + code + ")") + " for \""
                                + name + "\"",
                        e);
        };
    }

    private static String innermost(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; depth < MOST_CAUSES && cause.getCause() != null; depth++) {
            cause = cause.getCause();
        }
        String said = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return said.replaceAll("\\s+", " ").strip();
    }
}
