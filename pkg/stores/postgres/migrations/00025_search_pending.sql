-- +goose Up

-- New words wait in a list of the index until somebody's insert finds it full and sorts it in: that insert waits for all
-- of it. The default list of 4 MB took a minute of it on a busy server, which is longer than an insert may take.
ALTER INDEX page_text_words SET (gin_pending_list_limit = 512);

-- +goose Down
ALTER INDEX page_text_words RESET (gin_pending_list_limit);
