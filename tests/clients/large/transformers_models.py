"""transformers: GPT-2 and Llama of random weights that write, BERT that learns."""

import tempfile

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

torch.manual_seed(0)
SIZES = {"vocab_size": 50, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
gpt2 = GPT2LMHeadModel(GPT2Config(n_positions=32, n_embd=16, n_layer=2, n_head=2, **SIZES)).eval()
llama = LlamaForCausalLM(LlamaConfig(
    hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=32, **SIZES,
)).eval()  # fmt: skip
prompt = torch.tensor([[5, 6, 7]])
for model in (gpt2, llama):
    greedy = model.generate(prompt, max_new_tokens=8, do_sample=False, min_new_tokens=8)
    assert greedy.shape == (1, 11)
    # What a cache has kept is what is computed anew.
    anew = model.generate(
        prompt, max_new_tokens=8, do_sample=False, min_new_tokens=8, use_cache=False
    )
    assert torch.equal(greedy, anew)
    with torch.no_grad():
        logits = model(greedy[:, :-1]).logits[:, 2:]
    logits[..., 1] = -torch.inf
    assert torch.equal(logits.argmax(-1), greedy[:, 3:])
    assert model.generate(
        prompt, max_new_tokens=4, do_sample=True, top_k=5, min_new_tokens=4
    ).shape == (1, 7)
    assert model.generate(prompt, max_new_tokens=4, num_beams=3, min_new_tokens=4).shape == (1, 7)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = type(model).from_pretrained(folder).eval()
    assert torch.equal(again(prompt).logits, model(prompt).logits)

bert = BertForSequenceClassification(BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
    max_position_embeddings=16,
))  # fmt: skip
tokens = torch.randint(2, 50, (32, 8))
labels = (tokens[:, 0] > 25).long()
optimizer = torch.optim.AdamW(bert.parameters(), lr=3e-3)
losses = []
for _ in range(25):
    optimizer.zero_grad()
    loss = bert(input_ids=tokens, attention_mask=torch.ones_like(tokens), labels=labels).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses
print("done")
