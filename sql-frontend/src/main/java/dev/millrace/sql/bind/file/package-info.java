/**
 * Files that FROM names, by themselves or as arguments of functions. Entry: {@link dev.millrace.sql.bind.file.FileBinder}; who knows files
 * is the {@link dev.millrace.sql.catalog.Catalog}.
 */
package dev.millrace.sql.bind.file;
